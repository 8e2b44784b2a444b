// The details of a node: its texts, tools and further fields by the catalogue of node types, and its edges.

import { api, type Schema } from '../../api/client.ts';
import { type GraphDefinition, nodeName } from '../../graph/types.ts';
import { Icon } from '../../parts/icon.tsx';
import { Facts } from '../../parts/page.tsx';

type Node = GraphDefinition['nodes'][number];
type Edge = GraphDefinition['edges'][number];
type Property = Pick<Schema<'PropertySpec'>, 'name' | 'display_name' | 'options'>;

/** Longer values stand in a block of their own. */
const SHORT_MAX = 60;

export function NodePanel({
  node,
  definition: { nodes, edges },
  onSelect,
  onClose,
}: {
  node: Node;
  definition: GraphDefinition;
  onSelect: (id: string) => void;
  onClose: () => void;
}) {
  const types = api.useQuery('get', '/api/v1/node-types');
  const spec = types.data?.node_types.find(({ name }) => name === node.type);
  const nameOf = (id: string) => nodeName(nodes, id);
  const name = node.data.name ?? node.id;
  const shown = fieldsOf(node, spec?.properties ?? []);
  return (
    <section className="section node-panel" aria-label={`Node ${name}`}>
      <header>
        <div>
          <h2>{name}</h2>
          <p className="hint">{spec?.display_name ?? node.type}</p>
        </div>
        <button type="button" className="icon-button" aria-label="Close node" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {shown.filter(isLong).map(({ label, text }) => (
        <div key={label} className="node-text">
          <h3>{label}</h3>
          <p>{text}</p>
        </div>
      ))}
      <ToolNames value={node.data['tool_uuids']} />
      <Facts
        facts={shown
          .filter((field) => !isLong(field))
          .map(({ label, text }) => [label, text] as const)}
      />
      <EdgeList
        title="Leads to"
        edges={edges.filter(({ source }) => source === node.id)}
        otherOf={({ target }) => target}
        nameOf={nameOf}
        onSelect={onSelect}
      />
      <EdgeList
        title="Comes from"
        edges={edges.filter(({ target }) => target === node.id)}
        otherOf={({ source }) => source}
        nameOf={nameOf}
        onSelect={onSelect}
      />
    </section>
  );
}

interface Shown {
  label: string;
  text: string;
}

function isLong({ text }: Shown): boolean {
  return text.length > SHORT_MAX || text.includes('\n');
}

/** The fields that the node sets, in the catalogue's order, then those that the catalogue does not know. */
function fieldsOf({ data }: Node, properties: readonly Property[]): Shown[] {
  const order = new Map(properties.map((property, index) => [property.name, { property, index }]));
  const indexOf = (name: string) => order.get(name)?.index ?? properties.length;
  return Object.entries(data)
    .filter(([name]) => name !== 'name' && name !== 'tool_uuids')
    .sort(([one], [other]) => indexOf(one) - indexOf(other))
    .flatMap(([name, value]) => {
      const property = order.get(name)?.property;
      const text = textOf(value, property);
      return text === '' ? [] : [{ label: property?.display_name ?? name, text }];
    });
}

function textOf(value: unknown, property: Property | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const option = property?.options?.find((each) => each.value === value);
  if (option !== undefined) return option.label;
  if (Array.isArray(value) && value.length === 0) return '';
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

function ToolNames({ value }: { value: unknown }) {
  const tools = api.useQuery('get', '/api/v1/tools', { params: { query: {} } });
  const ids = Array.isArray(value) ? value.map(String) : [];
  if (ids.length === 0) return null;
  const nameOf = (id: string) => tools.data?.find((tool) => tool.tool_uuid === id)?.name;
  return (
    <div className="node-text">
      <h3>Tools</h3>
      <ul>
        {ids.map((id) => (
          <li key={id}>{nameOf(id) ?? (tools.isSuccess ? `${id} (does not exist)` : id)}</li>
        ))}
      </ul>
    </div>
  );
}

function EdgeList({
  title,
  edges,
  otherOf,
  nameOf,
  onSelect,
}: {
  title: string;
  edges: readonly Edge[];
  otherOf: (edge: Edge) => string;
  nameOf: (id: string) => string;
  onSelect: (id: string) => void;
}) {
  if (edges.length === 0) return null;
  return (
    <div className="node-text">
      <h3>{title}</h3>
      <ul>
        {edges.map((edge) => (
          <li key={edge.id}>
            <button type="button" className="link" onClick={() => onSelect(otherOf(edge))}>
              {nameOf(otherOf(edge))}
            </button>
            {edge.data?.label !== undefined && ` · ${edge.data.label}`}
            {edge.data?.condition !== undefined && (
              <span className="hint">{edge.data.condition}</span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
