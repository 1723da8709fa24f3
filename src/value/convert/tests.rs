// SPDX-License-Identifier: BSD-2-Clause
//! Each rule of the conversions as a table, and properties that hold for any input.

use super::super::{Elements, Metadata, NativeType, States, Text, WireElements};
use super::{ConversionError, Element, decode, encode};
use proptest::prelude::*;

const YES_NO: Metadata<'static> =
    Metadata { precision: Some(3), states: States(&[b"no", b"yes", b"maybe"]), ..Metadata::NONE };

fn with_precision(precision: i16) -> Metadata<'static> {
    Metadata { precision: Some(precision), ..Metadata::NONE }
}

fn text_of(elements: Elements<'_>, metadata: &Metadata<'_>) -> String {
    let mut out = [0xaa; 40];
    encode(&elements, metadata, NativeType::String, &mut out).unwrap();
    String::from_utf8(Text::truncated(&out).0.as_bytes().to_vec()).unwrap()
}

fn put_text<T: Element>(text: &str, metadata: &Metadata<'_>) -> Result<T, ConversionError> {
    let mut dst = [T::from_long(0)];
    let put = WireElements { from: NativeType::String, count: 1, bytes: text.as_bytes() };
    decode(&put, metadata, &mut dst).map(|n| {
        assert_eq!(n, 1);
        dst[0]
    })
}

fn get<const SIZE: usize>(elements: Elements<'_>, to: NativeType) -> Result<[u8; SIZE], ConversionError> {
    let mut out = [0xaa; SIZE];
    encode(&elements, &YES_NO, to, &mut out).map(|()| out)
}

#[test]
fn doubles_as_text() {
    let table: &[(f64, i16, &str)] = &[
        (3.7, 3, "3.700"),
        (0.0, 0, "0"),
        (-0.0, 2, "0.00"),
        (0.5, 0, "1"),
        (-2.5, 0, "-3"),
        (0.125, 2, "0.13"),
        (9.9999, 3, "10.000"),
        (-0.0001, 3, "-0.000"),
        (1e7, 3, "10000000.000"),
        (10_000_000.5, 0, "10000000"),
        (10_000_001.5, 0, "10000002"),
        (12_345_678.9, 8, "12345678.900"),
        (1e10, 6, "10000000000.000"),
        (-1e16, 3, "-10000000000000000.000"),
        (1e300, 3, "1.000e+300"),
        (-1e300, 0, "-1e+300"),
        (1.5, 9, " 1.500000000e+00"),
        (1e-5, 12, " 1.000000000000e-05"),
        (0.1, 20, " 1.00000000000000006e-01"),
        (0.1, -1, " 1.00000000000000006e-01"),
        (f64::INFINITY, 3, "       inf"),
        (f64::NEG_INFINITY, 3, "      -inf"),
        (f64::NAN, 3, "nan"),
        (f64::NAN, 9, "             nan"),
    ];
    for (value, precision, text) in table {
        assert_eq!(
            text_of(Elements::Double(&[*value]), &with_precision(*precision)),
            *text,
            "{value} {precision}"
        );
    }
    assert_eq!(text_of(Elements::Double(&[3.7]), &Metadata::NONE), "3.700000");
}

#[test]
fn other_numbers_as_text() {
    let metadata = with_precision(2);
    assert_eq!(text_of(Elements::Float(&[3.7]), &metadata), "3.70");
    assert_eq!(text_of(Elements::Float(&[2e7]), &metadata), "20000000.00");
    assert_eq!(text_of(Elements::Float(&[2e8]), &metadata), "2.00e+08");
    assert_eq!(text_of(Elements::Long(&[i32::MIN]), &metadata), "-2147483648");
    assert_eq!(text_of(Elements::Short(&[-1]), &metadata), "-1");
    assert_eq!(text_of(Elements::Char(&[200]), &metadata), "200");
    assert_eq!(text_of(Elements::Enum(&[1]), &YES_NO), "yes");
    assert_eq!(text_of(Elements::Enum(&[3]), &YES_NO), "");
}

#[test]
fn numbers_narrow() {
    assert_eq!(get(Elements::Double(&[-3.9]), NativeType::Long), Ok((-3i32).to_be_bytes()));
    assert_eq!(get(Elements::Double(&[1e300]), NativeType::Long), Ok(i32::MAX.to_be_bytes()));
    assert_eq!(get(Elements::Double(&[f64::NAN]), NativeType::Short), Ok([0; 2]));
    assert_eq!(get(Elements::Double(&[1e300]), NativeType::Float), Ok(f32::MAX.to_be_bytes()));
    assert_eq!(get(Elements::Double(&[-1e-300]), NativeType::Float), Ok((-f32::MIN_POSITIVE).to_be_bytes()));
    assert_eq!(get(Elements::Double(&[f64::INFINITY]), NativeType::Float), Ok(f32::INFINITY.to_be_bytes()));
    assert_eq!(get(Elements::Long(&[0x1_2345]), NativeType::Short), Ok([0x23, 0x45]));
    assert_eq!(get(Elements::Short(&[-1]), NativeType::Char), Ok([255]));
    assert_eq!(get(Elements::Short(&[-1]), NativeType::Enum), Ok([255, 255]));
    assert_eq!(get(Elements::Char(&[200]), NativeType::Long), Ok([0, 0, 0, 200]));
}

#[test]
fn text_as_numbers() {
    let text = |t: &str| [Text::from(t)];
    assert_eq!(get(Elements::String(&text("0x10")), NativeType::Double), Ok(16f64.to_be_bytes()));
    assert_eq!(get(Elements::String(&text("0x10")), NativeType::Long), Ok([0; 4]));
    assert_eq!(get(Elements::String(&text("1e3")), NativeType::Long), Ok([0, 0, 0, 1]));
    assert_eq!(get(Elements::String(&text("1e3")), NativeType::Float), Ok(1000f32.to_be_bytes()));
    assert_eq!(get(Elements::String(&text("")), NativeType::Double), Ok([0; 8]));
    assert_eq!(
        get::<8>(Elements::String(&text("hello")), NativeType::Double),
        Err(ConversionError::NotANumber)
    );
    assert_eq!(get::<2>(Elements::String(&text("1")), NativeType::Enum), Err(ConversionError::Unsupported));
}

#[test]
fn puts_of_text() {
    let none = &Metadata::NONE;
    let table: &[(&str, Result<f64, ConversionError>)] = &[
        ("8 mm", Ok(8.0)),
        (" 42 ", Ok(42.0)),
        ("\t-1.5e+2x", Ok(-150.0)),
        ("1e", Ok(1.0)),
        ("1e+", Ok(1.0)),
        (".5", Ok(0.5)),
        ("5.", Ok(5.0)),
        ("+7", Ok(7.0)),
        ("0x", Ok(0.0)),
        ("0x.8p1", Ok(1.0)),
        ("-0X1Fp-1", Ok(-15.5)),
        ("Infinity", Ok(f64::INFINITY)),
        ("-inf", Ok(f64::NEG_INFINITY)),
        ("", Ok(0.0)),
        ("   ", Err(ConversionError::NotANumber)),
        (".", Err(ConversionError::NotANumber)),
        ("-", Err(ConversionError::NotANumber)),
        ("e5", Err(ConversionError::NotANumber)),
        ("junk", Err(ConversionError::NotANumber)),
        ("@#$%", Err(ConversionError::NotANumber)),
        ("1e400", Err(ConversionError::Range)),
        ("1e-400", Err(ConversionError::Range)),
        ("0e-400", Ok(0.0)),
        ("0x1p2000", Err(ConversionError::Range)),
        ("0x1p-2000", Err(ConversionError::Range)),
    ];
    for (text, value) in table {
        assert_eq!(put_text::<f64>(text, none), *value, "{text}");
    }
    assert!(put_text::<f64>("nan", none).unwrap().is_nan());
    assert_eq!(put_text::<f32>("1e39", none), Err(ConversionError::Range));
    assert_eq!(put_text::<f32>("1e-39", none), Err(ConversionError::Range));

    assert_eq!(put_text::<i32>("12.5", none), Ok(12));
    assert_eq!(put_text::<i32>("2147483648", none), Err(ConversionError::Range));
    assert_eq!(put_text::<i32>("-2147483648", none), Ok(i32::MIN));
    assert_eq!(put_text::<i32>("99999999999999999999", none), Err(ConversionError::Range));
    assert_eq!(put_text::<i16>("70000", none), Err(ConversionError::Range));
    assert_eq!(put_text::<u8>("300", none), Err(ConversionError::Range));
    assert_eq!(put_text::<u8>("-7", none), Ok(249));
    assert_eq!(put_text::<u8>("-256", none), Err(ConversionError::Range));

    assert_eq!(put_text::<u16>("maybe", &YES_NO), Ok(2));
    assert_eq!(put_text::<u16>("1", &YES_NO), Ok(1));
    assert_eq!(put_text::<u16>("0x10", &YES_NO), Ok(0));
    assert_eq!(put_text::<u16>("1e3", &YES_NO), Ok(1));
    assert_eq!(put_text::<u16>("9", &YES_NO), Err(ConversionError::Range));
    assert_eq!(put_text::<u16>("-1", &YES_NO), Err(ConversionError::Range));
    assert_eq!(put_text::<u16>("may", &YES_NO), Err(ConversionError::NotANumber));
    assert_eq!(put_text::<u16>("", &YES_NO), Err(ConversionError::NotANumber));
}

#[test]
fn puts_of_numbers_to_text() {
    let put = |from, bytes: &[u8]| {
        let mut dst = [Text::EMPTY];
        decode(&WireElements { from, count: 1, bytes }, &Metadata::NONE, &mut dst).unwrap();
        dst[0]
    };
    assert_eq!(put(NativeType::Double, &3.25f64.to_be_bytes()), "3.250000".into());
    assert_eq!(put(NativeType::Float, &3.25f32.to_be_bytes()), "3.250000".into());
    assert_eq!(put(NativeType::Long, &(-5i32).to_be_bytes()), "-5".into());
    assert_eq!(put(NativeType::Enum, &[0, 2]), "2".into());
    assert_eq!(put(NativeType::Char, &[200]), "200".into());
}

#[test]
fn arrays_put_all_or_nothing() {
    let mut bytes = [0u8; 80];
    bytes[0] = b'7';
    bytes[40] = b'x';
    let mut dst = [1.0, 2.0, 3.0];
    let put = WireElements { from: NativeType::String, count: 2, bytes: &bytes };
    assert_eq!(decode(&put, &Metadata::NONE, &mut dst), Err(ConversionError::NotANumber));
    assert_eq!(dst, [1.0, 2.0, 3.0]);
    bytes[40] = b'8';
    let put = WireElements { from: NativeType::String, count: 2, bytes: &bytes };
    assert_eq!(decode(&put, &Metadata::NONE, &mut dst), Ok(2));
    assert_eq!(dst, [7.0, 8.0, 3.0]);
    // An empty string is 0 for a scalar only.
    let put = WireElements { from: NativeType::String, count: 1, bytes: b"" };
    assert_eq!(decode(&put, &Metadata::NONE, &mut dst), Err(ConversionError::NotANumber));
}

#[test]
fn beyond_the_length_comes_zero() {
    let mut out = [0xaa; 24];
    encode(&Elements::Double(&[1.0]), &Metadata::NONE, NativeType::Double, &mut out).unwrap();
    assert_eq!(out[..8], 1f64.to_be_bytes());
    assert_eq!(out[8..], [0; 16]);
    encode(&Elements::Double(&[]), &Metadata::NONE, NativeType::Double, &mut out).unwrap();
    assert_eq!(out, [0; 24]);
}

fn native() -> impl Strategy<Value = NativeType> {
    (0u16..7).prop_map(|code| NativeType::from_code(code).unwrap())
}

proptest! {
    #[test]
    fn same_type_round_trips(values in prop::collection::vec(any::<f64>(), 0..20)) {
        let mut bytes = vec![0; values.len() * 8];
        encode(&Elements::Double(&values), &Metadata::NONE, NativeType::Double, &mut bytes).unwrap();
        let mut back = vec![0f64; values.len()];
        let put = WireElements { from: NativeType::Double, count: values.len() as u32, bytes: &bytes };
        prop_assert_eq!(decode(&put, &Metadata::NONE, &mut back), Ok(values.len()));
        prop_assert!(values.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits()));
    }

    #[test]
    fn integers_survive_text(value in any::<i32>()) {
        let text = text_of(Elements::Long(&[value]), &Metadata::NONE);
        prop_assert_eq!(put_text::<i32>(&text, &Metadata::NONE), Ok(value));
        prop_assert_eq!(put_text::<f64>(&text, &Metadata::NONE), Ok(f64::from(value)));
    }

    #[test]
    fn seventeen_digits_survive_text(value in any::<f64>().prop_filter("normal", |v| v.is_normal())) {
        let text = text_of(Elements::Double(&[value]), &with_precision(17));
        prop_assert_eq!(put_text::<f64>(&text, &Metadata::NONE), Ok(value));
    }

    #[test]
    fn fixed_is_what_printf_prints(value in 1.0000001e7..1e16f64, precision in 0i16..=3) {
        let text = text_of(Elements::Double(&[-value]), &with_precision(precision));
        prop_assert_eq!(text, format!("-{value:.*}", precision as usize));
    }

    #[test]
    fn the_fast_method_is_close(value in -1e7..1e7f64, precision in 0i16..=8) {
        let text = text_of(Elements::Double(&[value]), &with_precision(precision));
        let back: f64 = text.parse().unwrap();
        prop_assert!((back - value).abs() <= 0.51 * 10f64.powi(-i32::from(precision)) + 1e-9);
    }

    #[test]
    fn nothing_panics(
        bytes in prop::collection::vec(any::<u8>(), 0..200), from in native(), to in native(),
        count in 0u32..300, room in 0usize..100, precision in any::<i16>(),
    ) {
        let metadata = Metadata { precision: Some(precision), ..YES_NO };
        let put = WireElements { from, count, bytes: &bytes };
        let mut out = vec![0; room];
        macro_rules! through {
            ($($variant:ident $zero:expr),*) => { $({
                let mut values = [$zero; 8];
                if let Ok(n) = decode(&put, &metadata, &mut values) {
                    prop_assert!(n <= 8 && n <= count as usize);
                }
                let _ = encode(&Elements::$variant(&values), &metadata, to, &mut out);
            })* };
        }
        through!(Double 0f64, Float 0f32, Long 0i32, Short 0i16, Enum 0u16, Char 0u8, String Text::EMPTY);
    }

    #[test]
    fn parsers_agree_with_core(text in "[ ]{0,2}[-+]?[0-9]{1,6}(\\.[0-9]{0,6})?([eE][-+]?[0-9]{1,2})?[ a-d]{0,3}") {
        let number = text.trim().trim_end_matches(['a', 'b', 'c', 'd', ' ']);
        prop_assert_eq!(put_text::<f64>(&text, &Metadata::NONE), Ok(number.parse::<f64>().unwrap()));
    }
}
