// The composition root: the only file that knows every room. Read top to bottom to see the system.

export {};
