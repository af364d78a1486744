"""What live objects say. Pure: no I/O, no clock."""
