// The layout of an agent's graph: names of edges have room of their own, also those of edges that pass a rank.

import { expect, it } from 'vitest';
import { NODE_HEIGHT, NODE_WIDTH, type Place, placed } from '../../src/console/graph/layout.ts';

const CHARACTER_WIDTH = 6;
const NAME_HEIGHT = 14;

interface Box extends Place {
  width: number;
  height: number;
}

function areApart(one: Box, other: Box): boolean {
  return (
    one.x + one.width <= other.x ||
    other.x + other.width <= one.x ||
    one.y + one.height <= other.y ||
    other.y + other.height <= one.y
  );
}

it('keeps nodes and names of edges apart, with edges that pass a rank and one that leads back', () => {
  const ids = ['welcome', 'weekday', 'time', 'number', 'confirm', 'booked', 'cancelled'];
  const edges = [
    { source: 'welcome', target: 'weekday', name: 'Book appointment' },
    { source: 'welcome', target: 'cancelled', name: 'Cancel appointment' },
    { source: 'weekday', target: 'time', name: 'Monday +4' },
    { source: 'time', target: 'number', name: 'Morning +1' },
    { source: 'weekday', target: 'confirm', name: 'Number is known' },
    { source: 'number', target: 'confirm', name: 'Number given +1' },
    { source: 'confirm', target: 'weekday', name: 'Another day' },
    { source: 'confirm', target: 'booked', name: 'Confirm' },
    { source: 'confirm', target: 'nowhere', name: 'Lost' },
  ];
  const { places, ways } = placed(ids, edges);
  const nodes = [...places.values()].map((at) => ({
    ...at,
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
  }));
  const names = edges.flatMap(({ source, target, name }): Box[] => {
    const at = ways.get(`${source}>${target}`)?.name;
    if (at === undefined) return [];
    const width = name.length * CHARACTER_WIDTH;
    return [{ x: at.x - width / 2, y: at.y - NAME_HEIGHT / 2, width, height: NAME_HEIGHT }];
  });
  expect([nodes.length, names.length]).toEqual([7, 8]);
  const boxes = [...nodes, ...names];
  const touching = boxes.flatMap((one, index) =>
    boxes.slice(index + 1).filter((other) => !areApart(one, other)),
  );
  expect(touching).toEqual([]);
});
