"""The kinds that Keepsake adds to Kubernetes, as typed models: the source of `crds/*.yaml`."""
