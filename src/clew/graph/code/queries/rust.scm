; What a Rust file defines, imports, calls and binds.
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(macro_definition name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @class
(enum_item name: (type_identifier) @name) @class
(union_item name: (type_identifier) @name) @class
(trait_item name: (type_identifier) @name) @class
(type_item name: (type_identifier) @name) @class
(mod_item name: (identifier) @name body: (_)) @module
(impl_item type: (_) @name) @scope

(use_declaration) @import
(mod_item !body) @import

(call_expression function: (identifier) @called)
(call_expression function: (scoped_identifier path: (_) @receiver name: (identifier) @called))
(call_expression function: (field_expression value: (_) @receiver field: (field_identifier) @called))
(call_expression function: (generic_function function: (identifier) @called))
(call_expression function: (generic_function function: (scoped_identifier path: (_) @receiver name: (identifier) @called)))
(macro_invocation macro: (identifier) @called)
(struct_expression name: (type_identifier) @called)

(parameter pattern: (identifier) @bound type: (_) @type)
(closure_parameters (identifier) @bound)
(let_declaration pattern: (identifier) @bound)
(let_declaration pattern: (identifier) @bound type: (_) @type)
(let_declaration pattern: (identifier) @bound value: (struct_expression name: (_) @type))
(let_declaration pattern: (identifier) @bound value: (call_expression function: (scoped_identifier path: (_) @type)))
(field_declaration name: (field_identifier) @field type: (_) @type)
