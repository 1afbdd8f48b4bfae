"""A file is a figure, or a family of figures that are drawn alike: `icl_core.showing.item`."""
