"""A file is a table, or a family of tables that are set alike: `icl_core.showing.item`."""
