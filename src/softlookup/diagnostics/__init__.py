"""Is the run healthy? Monitors read attention statistics after or during a run; they never change it."""
