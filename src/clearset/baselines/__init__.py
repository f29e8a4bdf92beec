"""Models to compare set functions with: averages, Deep Sets, networks on categories, support distributions."""
