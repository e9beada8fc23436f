"""A search over the shards of a generation: the interface of a shard, a shard in this process, and the merge."""
