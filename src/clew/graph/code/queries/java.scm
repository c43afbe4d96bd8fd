; What a Java file defines, imports, calls and binds.
(package_declaration [(identifier) (scoped_identifier)] @package)
(class_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @class
(enum_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(annotation_type_declaration name: (identifier) @name) @class
(method_declaration name: (identifier) @name) @function
(constructor_declaration name: (identifier) @name) @function
(superclass (type_identifier) @base)
(super_interfaces (type_list (type_identifier) @base))
(extends_interfaces (type_list (type_identifier) @base))

(import_declaration) @import

(method_invocation !object name: (identifier) @called)
(method_invocation object: (_) @receiver name: (identifier) @called)
(object_creation_expression type: (type_identifier) @called)
(object_creation_expression type: (generic_type (type_identifier) @called))

(formal_parameter type: (_) @type name: (identifier) @bound)
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @bound))
(local_variable_declaration declarator: (variable_declarator name: (identifier) @bound value: (object_creation_expression type: (_) @type)))
(field_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @field))
