"""Link graph, PageRank and anchor texts."""
