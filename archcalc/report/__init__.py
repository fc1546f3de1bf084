"""What an analyzer returns: raw values with units, laid out as figures and tables, never formatted."""
