; What a C file defines, includes, calls and binds. A prototype is no definition.
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))) @function
(preproc_function_def name: (identifier) @name) @function
(struct_specifier name: (type_identifier) @name body: (_)) @class
(union_specifier name: (type_identifier) @name body: (_)) @class
(enum_specifier name: (type_identifier) @name body: (_)) @class
(type_definition declarator: (type_identifier) @name) @class

(preproc_include) @import

(call_expression function: (identifier) @called)
(call_expression function: (field_expression argument: (_) @receiver field: (field_identifier) @called))

(parameter_declaration declarator: (identifier) @bound)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @bound))
(parameter_declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bound))))
