-- Where other gateways reach a gateway, and its version: in the gateway's own row of `nodes`, null in the rows of its
-- other processes. And the processes whose waiting calls others have adopted.

alter table nodes add column url text;
alter table nodes add column version text;

-- Epochs of the processes that had the call while it waited for its media and that another process took it from. Unlike
-- those of `fenced_epochs` they are alive, and their writes to the run are refused only until it is completed.
alter table runs add column adopted_epochs bigint[];
