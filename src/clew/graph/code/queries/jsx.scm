; An element is a call of its component.
(jsx_opening_element name: (identifier) @called)
(jsx_self_closing_element name: (identifier) @called)
