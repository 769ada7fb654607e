"""Competitions and classes: files, boards, reports, grades and exports."""
