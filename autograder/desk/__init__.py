"""The instructor's desk: releasing, grading a class, gradebook, feedback."""
