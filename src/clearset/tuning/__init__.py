"""Tuning: which options do best on validation data."""
