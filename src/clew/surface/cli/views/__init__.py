"""What people see: rich renderables made from values. Only loaded when something is drawn."""
