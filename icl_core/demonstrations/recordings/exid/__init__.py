"""ExiD: motorways with exits from above, and changing lane on them."""
