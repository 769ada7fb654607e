"""Competitions and classes: from the file to boards, reports, grades and exports."""
