"""The HTTP edge: requests in, problem+json or memories out."""
