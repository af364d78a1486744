"""From a frozen view of one Workspace to the writes that bring it nearer to what its manifest says."""
