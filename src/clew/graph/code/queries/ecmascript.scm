; What JavaScript and TypeScript say alike.
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @function
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
(arrow_function parameter: (identifier) @bound)
(variable_declarator name: (identifier) @bound)
(variable_declarator name: (identifier) @bound value: (new_expression constructor: (_) @type))
(assignment_expression left: (member_expression object: (this) property: (property_identifier) @field) right: (new_expression constructor: (_) @type))
