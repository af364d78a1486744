"""Typed specs of the custom resources and the CRDs generated from them."""
