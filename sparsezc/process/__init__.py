"""What is one for a whole process: the locks that its threads wait for, and the files that it has loaded."""
