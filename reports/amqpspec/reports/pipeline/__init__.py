"""From journals to knowledge: a lake of Parquet, rollups and marts by Spark; only a session needs Spark itself."""
