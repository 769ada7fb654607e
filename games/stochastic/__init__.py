"""Games with dice or other chance that everybody sees."""
