"""Stand-ins for speech services."""
