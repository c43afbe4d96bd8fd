; What a Python file defines, imports, calls and binds.
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(class_definition superclasses: (argument_list [(identifier) (attribute)] @base))

(import_statement) @import
(import_from_statement) @import

(call function: (identifier) @called)
(call function: (attribute object: (_) @receiver attribute: (identifier) @called))
(decorator (identifier) @called)
(decorator (attribute object: (_) @receiver attribute: (identifier) @called))

(parameters [(identifier) @bound (default_parameter name: (identifier) @bound)])
(parameters (typed_parameter (identifier) @bound type: (type) @type))
(parameters (typed_default_parameter name: (identifier) @bound type: (type) @type))
(lambda_parameters (identifier) @bound)
(assignment left: (identifier) @bound)
(assignment left: (identifier) @bound type: (type) @type)
(assignment left: (identifier) @bound right: (call function: [(identifier) (attribute)] @type))
(assignment left: (attribute object: (identifier) @self attribute: (identifier) @field) type: (type) @type)
(assignment left: (attribute object: (identifier) @self attribute: (identifier) @field) right: (call function: [(identifier) (attribute)] @type))
(as_pattern (call function: [(identifier) (attribute)] @type) alias: (as_pattern_target (identifier) @bound))
