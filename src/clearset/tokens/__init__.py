"""Tokens: which combinations of items an example is made of, and what is known about them."""
