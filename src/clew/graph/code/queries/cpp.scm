; What a C++ file defines, includes, calls and binds. A prototype is no definition.
(namespace_definition name: (_) @name) @module
(class_specifier name: (type_identifier) @name body: (_)) @class
(struct_specifier name: (type_identifier) @name body: (_)) @class
(union_specifier name: (type_identifier) @name body: (_)) @class
(enum_specifier name: (type_identifier) @name body: (_)) @class
(type_definition declarator: (type_identifier) @name) @class
(alias_declaration name: (type_identifier) @name) @class
(function_definition declarator: (function_declarator
  declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator
  declarator: [(identifier) (field_identifier) (qualified_identifier)] @name))) @function
(function_definition declarator: (reference_declarator (function_declarator
  declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name)] @name))) @function
(preproc_function_def name: (identifier) @name) @function
(base_class_clause [(type_identifier) (qualified_identifier)] @base)

(preproc_include) @import

(call_expression function: [(identifier) (qualified_identifier)] @called)
(call_expression function: (field_expression argument: (_) @receiver field: (field_identifier) @called))
(call_expression function: (template_function name: (identifier) @called))
(new_expression type: [(type_identifier) (qualified_identifier)] @called)

(parameter_declaration type: (_) @type declarator: (identifier) @bound)
(parameter_declaration type: (_) @type declarator: (pointer_declarator declarator: (identifier) @bound))
(parameter_declaration type: (_) @type declarator: (reference_declarator (identifier) @bound))
(declaration type: (_) @type declarator: (identifier) @bound)
(declaration type: (_) @type declarator: (pointer_declarator declarator: (identifier) @bound))
(declaration type: (_) @type declarator: (init_declarator declarator: (identifier) @bound))
(declaration type: (_) @type declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @bound)))
(init_declarator declarator: (identifier) @bound value: (new_expression type: (_) @type))
(init_declarator declarator: (pointer_declarator declarator: (identifier) @bound) value: (new_expression type: (_) @type))
(field_declaration type: (_) @type declarator: (field_identifier) @field)
(field_declaration type: (_) @type declarator: (pointer_declarator declarator: (field_identifier) @field))
