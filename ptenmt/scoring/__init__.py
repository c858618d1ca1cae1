"""Scores of translations, computed by sacreBLEU, and the test sets that they are measured on."""
