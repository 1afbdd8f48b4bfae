"""Traffic recordings in the formats of HighD and ExiD: simulated, and read with every check."""
