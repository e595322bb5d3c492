//! Enumerations whose values have names in the APIs and in stored items.

/// An enumeration that the macro `named!` declares.
pub trait Named: Copy + 'static {
    /// The name of the type in the APIs.
    const TYPE_NAME: &'static str;
    /// All values, in the order of their declaration.
    const ALL: &'static [Self];

    fn name(self) -> &'static str;

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.name() == name)
    }

    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|value| value.name()).collect()
    }
}

/// Declares an enumeration with the name of each value. `enum A as B` is called `B` in the APIs.
macro_rules! named {
    (@type_name $type:ident) => { stringify!($type) };
    (@type_name $type:ident $public:ident) => { stringify!($public) };
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $type:ident $(as $public:ident)? { $($(#[$value_attribute:meta])* $value:ident = $name:literal,)+ }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $type { $($(#[$value_attribute])* $value,)+ }

        impl $crate::domain::named::Named for $type {
            const TYPE_NAME: &'static str = $crate::domain::named::named!(@type_name $type $($public)?);
            const ALL: &'static [Self] = &[$(Self::$value,)+];

            fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }
        }

        impl $type {
            /// Returns the name of this value in the APIs and in stored items.
            $visibility fn name(self) -> &'static str {
                $crate::domain::named::Named::name(self)
            }

            $visibility fn parse(name: &str) -> Option<Self> {
                <Self as $crate::domain::named::Named>::parse(name)
            }
        }
    };
}

pub(crate) use named;
