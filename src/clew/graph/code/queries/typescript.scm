; What a TypeScript file defines and binds in its own way.
(function_signature name: (identifier) @name) @function
(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @class
(enum_declaration name: (identifier) @name) @class
(type_alias_declaration name: (type_identifier) @name) @class
(internal_module name: (identifier) @name) @module
(extends_clause value: [(identifier) (member_expression)] @base)
(implements_clause (type_identifier) @base)
(extends_type_clause (type_identifier) @base)
(public_field_definition name: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function

(formal_parameters (required_parameter pattern: (identifier) @bound))
(formal_parameters (optional_parameter pattern: (identifier) @bound))
(formal_parameters (required_parameter pattern: (identifier) @bound type: (type_annotation (_) @type)))
(formal_parameters (optional_parameter pattern: (identifier) @bound type: (type_annotation (_) @type)))
(formal_parameters (required_parameter (accessibility_modifier) pattern: (identifier) @field type: (type_annotation (_) @type)))
(variable_declarator name: (identifier) @bound type: (type_annotation (_) @type))
(public_field_definition name: (property_identifier) @field type: (type_annotation (_) @type))
(public_field_definition name: (property_identifier) @field value: (new_expression constructor: (_) @type))
