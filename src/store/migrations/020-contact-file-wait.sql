-- A contact file may lie on the disk of another node: the campaign waits for a node that has it.

alter table campaigns
  -- Which node did not have it, last; it leaves the others the next try.
  add column sync_missed_node text,
  add column sync_missed_since timestamptz;
