"""Apache Spark: the session, and the ways in which jobs use it. Only this package imports pyspark."""
