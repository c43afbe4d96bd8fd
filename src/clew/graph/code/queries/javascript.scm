; What a JavaScript file defines and binds in its own way.
(class_declaration name: (identifier) @name) @class
(class_heritage [(identifier) (member_expression)] @base)
(field_definition property: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function

(formal_parameters [(identifier) @bound (assignment_pattern left: (identifier) @bound)])
