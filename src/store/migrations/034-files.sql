-- Files of runs wait on the disk of the gateway that had the call, until they are in S3: its name; null, if they are
-- there, or nowhere, or the installation has no S3.
alter table runs add column files_node text;

-- Calls that had media and have no recording: a killed gateway's, which another one has closed. Their recording may be
-- found on its disk. In the usual case it has no rows.
create index runs_without_recording on runs (id)
  where state = 'completed' and recording_key is null and started_at is not null
    and mode <> 'textchat';
