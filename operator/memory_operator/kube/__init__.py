"""The API server, behind one client."""
