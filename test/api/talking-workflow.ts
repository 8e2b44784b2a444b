// An agent that a script leads, with a question and an end.

export const talking = {
  nodes: [
    {
      id: '1',
      type: 'startCall',
      position: { x: 0, y: 0 },
      data: {
        name: 'Start',
        prompt: 'Ask.',
        say: 'Hello {{who | there}}. Shall we end?',
        extraction_enabled: true,
        extraction_variables: [{ name: 'colour', type: 'string' }],
      },
    },
    {
      id: '2',
      type: 'endCall',
      position: { x: 0, y: 200 },
      data: { name: 'End', prompt: 'Say goodbye.', say: 'Goodbye.' },
    },
  ],
  edges: [
    {
      id: '1-2',
      source: '1',
      target: '2',
      data: { label: 'Done', condition: 'All is said.', phrases: ['finish'] },
    },
  ],
};
