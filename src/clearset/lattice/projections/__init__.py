"""lattice/projections."""
