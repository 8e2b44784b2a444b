-- A run is updated several times in its life: room in its page keeps the next version of the row there, and an update that
-- changes no indexed column then writes no index.
alter table runs set (fillfactor = 80);
-- Each call of a campaign wrote eight entries to these two. A list of a campaign by length is merged from pieces by age
-- (runs/run-list.ts): a piece of 6,000 runs is sorted in 2.5 ms, where these found its first page in 1.
drop index runs_campaign_longest;
drop index runs_campaign_shortest;

-- What a gateway says of itself (model/gateway-condition.ts): in the row of its API process.
alter table nodes add column condition json, add column condition_at timestamptz;
