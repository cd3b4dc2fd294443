"""From journals to marts: a lake of Parquet files, rollups and marts by Spark. Only a session needs Spark itself."""
