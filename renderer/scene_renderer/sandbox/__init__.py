"""What surrounds a job: its layers, limits and priorities, and the processes below it."""
