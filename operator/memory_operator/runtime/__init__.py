"""What runs between the watches and the passes: the store, the queue, the sweep, the recorder."""
