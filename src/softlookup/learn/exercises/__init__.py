"""The course page's five exercises in our own words, at sizes that a seed draws; seed 0 has the page's sizes."""
