"""Games with dice or other chance that everybody sees; pig is the one to read first."""
