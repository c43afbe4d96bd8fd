; What a TypeScript file defines, imports, calls and binds; JSX is added for tsx.
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
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
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @function
(public_field_definition name: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function
(assignment_expression left: (member_expression property: (property_identifier) @name) right: [(arrow_function) (function_expression)]) @function

(import_statement) @import
(export_statement source: (string)) @import
((call_expression function: (identifier) @require arguments: (arguments . (string))) @import (#eq? @require "require"))
(call_expression function: (import)) @import
((variable_declarator name: (_) @target value: (call_expression function: (identifier) @require arguments: (arguments . (string))) @import)
 (#eq? @require "require"))

(call_expression function: (identifier) @called)
(call_expression function: (member_expression object: (_) @receiver property: [(property_identifier) (private_property_identifier)] @called))
(new_expression constructor: (identifier) @called)
(new_expression constructor: (member_expression object: (_) @receiver property: (property_identifier) @called))

(formal_parameters (required_parameter pattern: (identifier) @bound))
(formal_parameters (optional_parameter pattern: (identifier) @bound))
(formal_parameters (required_parameter pattern: (identifier) @bound type: (type_annotation (_) @type)))
(formal_parameters (optional_parameter pattern: (identifier) @bound type: (type_annotation (_) @type)))
(formal_parameters (required_parameter (accessibility_modifier) pattern: (identifier) @field type: (type_annotation (_) @type)))
(arrow_function parameter: (identifier) @bound)
(variable_declarator name: (identifier) @bound)
(variable_declarator name: (identifier) @bound type: (type_annotation (_) @type))
(variable_declarator name: (identifier) @bound value: (new_expression constructor: (_) @type))
(public_field_definition name: (property_identifier) @field type: (type_annotation (_) @type))
(public_field_definition name: (property_identifier) @field value: (new_expression constructor: (_) @type))
(assignment_expression left: (member_expression object: (this) property: (property_identifier) @field) right: (new_expression constructor: (_) @type))
