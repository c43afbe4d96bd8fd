; What a Go file defines, imports, calls and binds.
(package_clause (package_identifier) @package)
(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (field_identifier) @name) @function
(type_spec name: (type_identifier) @name) @class

(import_spec) @import

(call_expression function: (identifier) @called)
(call_expression function: (selector_expression operand: (_) @receiver field: (field_identifier) @called))
(composite_literal type: (type_identifier) @called)
(composite_literal type: (qualified_type package: (package_identifier) @receiver name: (type_identifier) @called))

(parameter_declaration name: (identifier) @bound type: (_) @type)
(var_spec name: (identifier) @bound type: (_) @type)
(short_var_declaration left: (expression_list (identifier) @bound))
(short_var_declaration left: (expression_list . (identifier) @bound) right: (expression_list . (composite_literal type: (_) @type)))
(short_var_declaration left: (expression_list . (identifier) @bound)
                       right: (expression_list . (unary_expression operand: (composite_literal type: (_) @type))))
(field_declaration name: (field_identifier) @field type: (_) @type)
