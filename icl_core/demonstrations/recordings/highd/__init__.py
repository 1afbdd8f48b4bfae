"""HighD: highways from above, and driving along them."""
